import Link from "next/link";
import { PAGES, text, TOPICS } from "../../content.js";

export const dynamicParams = false;
export const generateStaticParams = () => TOPICS.map((topic) => ({ topic }));

export default async function Topic({ params }) {
  const { topic } = await params;
  return (
    <>
      <h1>{topic}</h1>
      <p>{text(100 + TOPICS.indexOf(topic), 5)}</p>
      {Array.from({ length: PAGES }, (_, number) => (
        <p key={number}>
          <Link href={`/guides/${topic}/${number + 1}/`}>Part {number + 1}</Link>
        </p>
      ))}
    </>
  );
}
