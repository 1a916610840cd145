import { lazy, Suspense, useEffect } from "react";
import { Link, Navigate, Route, Routes, useNavigate, useParams, useSearchParams } from "react-router";
import { useJson } from "./data.js";

const Blog = lazy(() => import("./Blog.jsx"));
const Post = lazy(() => import("./Post.jsx"));

export default function App() {
  return (
    <>
      <Header />
      <main>
        <Suspense fallback={<p>Loading</p>}>
          <Routes>
            <Route path="/" element={<Home />} />
            <Route path="/c/:slug" element={<Category />} />
            <Route path="/p/:id" element={<Product />} />
            <Route path="/blog" element={<Blog />} />
            <Route path="/blog/:slug" element={<Post />} />
            <Route path="/about" element={<About />} />
            <Route path="/delivery" element={<Delivery />} />
            <Route path="/recommended" element={<Recommended />} />
            <Route path="/account" element={<p>Your account</p>} />
            <Route path="/old-shop" element={<Navigate to="/" replace />} />
            <Route path="/goto/:id" element={<Goto />} />
            <Route path="*" element={<Missing />} />
          </Routes>
        </Suspense>
      </main>
    </>
  );
}

function Header() {
  const navigate = useNavigate();
  return (
    <header>
      <img src="/img/logo.png" alt="Shop" />
      <Link to="/">Shop</Link> <Link to="/blog">Blog</Link> <Link to="/about">About</Link>
      <Link to="/account">Account</Link>
      <button onClick={() => navigate("/only-by-a-button")}>Offers</button>
    </header>
  );
}

function Home() {
  const home = useJson("/api/home.json");
  if (!home) return <p>Loading</p>;
  return (
    <>
      <title>Everything for the house</title>
      <h1>Everything for the house</h1>
      <p>{home.text}</p>
      <ul>
        {home.categories.map((one) => (
          <li key={one.slug}>
            <Link to={`/c/${one.slug}`}>{one.name}</Link>
          </li>
        ))}
      </ul>
      {home.links.map((link) => (
        <p key={link}>
          <Link to={link}>{link}</Link>
        </p>
      ))}
    </>
  );
}

function Category() {
  const { slug } = useParams();
  const page = Number(useSearchParams()[0].get("page") ?? 1);
  const category = useJson(`/api/c/${slug}.json?page=${page}`);
  if (category === undefined) return <p>Loading</p>;
  if (category === null) return <Missing />;
  return (
    <>
      <title>{`${category.name}, page ${page}`}</title>
      <h1>{category.name}</h1>
      <p>{category.text}</p>
      {category.products.map((one) => (
        <article key={one.id}>
          <Link to={`/p/${one.id}`}>{one.name}</Link> <span>{one.price}</span>
        </article>
      ))}
      {page < category.pages && <Link to={`/c/${slug}?page=${page + 1}`}>More</Link>}
    </>
  );
}

function Product() {
  const { id } = useParams();
  const product = useJson(`/api/p/${id}.json`);
  if (product === undefined) return <p>Loading</p>;
  if (product === null) return <Missing noindex />;
  const about = { "@context": "https://schema.org", "@type": "ItemPage", dateModified: product.modified };
  return (
    <>
      <title>{product.name}</title>
      {product.canonical && <link rel="canonical" href={product.canonical} />}
      {product.discontinued && <meta name="robots" content="noindex" />}
      <script type="application/ld+json">{JSON.stringify(about)}</script>
      <h1>{product.name}</h1>
      <img src={`/img/products/${id}.png`} alt={product.name} />
      <p>{product.text}</p>
      <p>{product.price}</p>
      {product.related.map((one) => (
        <Link key={one} to={`/p/${one}`}>
          Product {one}
        </Link>
      ))}
    </>
  );
}

function About() {
  return (
    <>
      <title>About us</title>
      <h1>About us</h1>
      <p>We sell what a house needs, from a small street near the harbour.</p>
      <Link to="/delivery">Delivery</Link> <a href="https://elsewhere.example/">Our street</a>
    </>
  );
}

function Delivery() {
  return (
    <>
      <title>Delivery</title>
      <h1>Delivery</h1>
      <p>We deliver on Tuesdays, by bicycle.</p>
    </>
  );
}

// Its content is in a file that robots.txt blocks.
function Recommended() {
  const found = useJson("/api/private/recommended.json");
  return (
    <>
      <title>Recommended</title>
      <h1>Recommended</h1>
      <p>What others have bought.</p>
      {found?.links.map((link) => (
        <Link key={link} to={link}>
          {link}
        </Link>
      ))}
    </>
  );
}

function Goto() {
  const { id } = useParams();
  useEffect(() => window.location.replace(`/p/${id}`), [id]);
  return <p>One moment</p>;
}

function Missing({ noindex = false }) {
  return (
    <>
      <title>Page not found</title>
      {noindex && <meta name="robots" content="noindex" />}
      <h1>404: Page not found</h1>
      <p>Sorry, the page that you are looking for does not exist.</p>
    </>
  );
}
