import Link from "next/link";
import { TOPICS } from "./content.js";

export const metadata = { title: "The handbook" };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <nav>
          <Link href="/">Handbook</Link> <Link href="/authors/">Authors</Link>
          {TOPICS.map((topic) => (
            <Link key={topic} href={`/guides/${topic}/`}>
              {topic}
            </Link>
          ))}
        </nav>
        <main>{children}</main>
      </body>
    </html>
  );
}
