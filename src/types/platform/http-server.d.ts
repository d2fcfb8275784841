import type { HttpServerPlatform } from "../../net/http-server.js";

/** The host's HTTP server. */
export const httpServer: HttpServerPlatform;
