"use client";

import { useEffect, useState } from "react";

export default function Counter() {
  const [ready, setReady] = useState(false);
  const [count, setCount] = useState(0);
  useEffect(() => setReady(true), []);
  return (
    <button disabled={!ready} onClick={() => setCount(count + 1)}>
      Read {count} times
    </button>
  );
}
