import Counter from "./parts/counter.jsx";
import { text } from "./content.js";

export default function Home() {
  return (
    <>
      <h1>The handbook</h1>
      <p>{text(1, 6)}</p>
      <Counter />
    </>
  );
}
