import { Link, useParams } from "react-router";
import { useJson } from "./data.js";

export default function Post() {
  const { slug } = useParams();
  const post = useJson(`/api/blog/${slug}.json`);
  if (!post) return <p>Loading</p>;
  return (
    <>
      <title>{post.title}</title>
      <meta property="article:modified_time" content={post.modified} />
      <article>
        <h1>{post.title}</h1>
        <p>{post.text}</p>
      </article>
      {post.product && <Link to={`/p/${post.product}`}>The product</Link>}
    </>
  );
}
