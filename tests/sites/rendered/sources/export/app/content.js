export const TOPICS = ["alloys", "bearings", "castings", "drives", "engines", "filters", "gears"];
export const PAGES = 10;

const WORDS = (
  "steel is hardened by heat and quenched in oil while bronze keeps its softness under load and wears evenly over years of " +
  "service in mills pumps and presses where dust water and neglect are the rule"
).split(" ");

// Sentences that differ from page to page, and are the same in every build.
export function text(seed, sentences) {
  let state = seed * 7919 + 17;
  const next = () => (state = (state * 48271) % 2147483647);
  return Array.from({ length: sentences }, () => {
    const words = Array.from({ length: 12 }, () => WORDS[next() % WORDS.length]);
    return `${words.join(" ")}.`;
  }).join(" ");
}
