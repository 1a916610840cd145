import { useEffect, useState } from "react";

// Returns the JSON of an address: undefined until it is there, null if there is none.
export function useJson(url) {
  const [state, setState] = useState({});
  useEffect(() => {
    const stop = new AbortController();
    fetch(url, { signal: stop.signal })
      .then((answer) => (answer.ok ? answer.json() : null))
      .then((value) => setState({ url, value }))
      .catch((error) => error.name === "AbortError" || setState({ url, value: null }));
    return () => stop.abort();
  }, [url]);
  return state.url === url ? state.value : undefined;
}
