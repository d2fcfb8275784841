import { httpServer } from "src/platform/http-server";
import { directFeature } from "./mcp-endpoint.js";

/** Serves MCP clients directly, without a backend: the setting `http`. */
export default directFeature(httpServer);
