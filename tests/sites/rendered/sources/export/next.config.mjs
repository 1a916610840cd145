import { fileURLToPath } from "node:url";

export default {
  output: "export",
  trailingSlash: true,
  generateBuildId: () => "build",
  // The packages are installed in the directory above.
  turbopack: { root: fileURLToPath(new URL("..", import.meta.url)) },
};
