import { Link } from "react-router";
import { useJson } from "./data.js";

export default function Blog() {
  const blog = useJson("/api/blog.json");
  if (!blog) return <p>Loading</p>;
  return (
    <>
      <title>Blog</title>
      <h1>Blog</h1>
      {blog.posts.map((post) => (
        <p key={post.slug}>
          <Link to={`/blog/${post.slug}`}>{post.title}</Link>
        </p>
      ))}
    </>
  );
}
