import { text } from "../content.js";

export const metadata = { title: "Authors" };

export default function Authors() {
  return (
    <>
      <h1>Authors</h1>
      <p>{text(2, 6)}</p>
    </>
  );
}
