import Counter from "../../../parts/counter.jsx";
import { PAGES, text, TOPICS } from "../../../content.js";

export const dynamicParams = false;
export const generateStaticParams = () =>
  TOPICS.flatMap((topic) => Array.from({ length: PAGES }, (_, number) => ({ topic, page: String(number + 1) })));

export async function generateMetadata({ params }) {
  const { topic, page } = await params;
  return { title: `${topic}, part ${page}` };
}

export default async function Part({ params }) {
  const { topic, page } = await params;
  return (
    <article>
      <h1>
        {topic}, part {page}
      </h1>
      <p>{text(1000 + 20 * TOPICS.indexOf(topic) + Number(page), 8)}</p>
      <Counter />
    </article>
  );
}
