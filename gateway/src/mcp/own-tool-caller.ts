import type { ServerContext } from "@modelcontextprotocol/server";
import { REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import type { OwnToolCaller } from "../catalog/own-tools.js";
import type { ServedClient } from "./served-client.js";

/** Milliseconds that a person has for an answer. */
const ANSWER_TIME = 300_000;

/** The client of this request. */
export function callerOf(
	client: ServedClient,
	{ mcpReq }: ServerContext,
	{ principal, onClosed }: Pick<OwnToolCaller, "principal" | "onClosed">,
): OwnToolCaller {
	const isStateless = client.revision >= REVISION_OF_STATELESS;
	return {
		principal,
		signal: mcpReq.signal,
		async ask(question) {
			if (isStateless || client.server.getClientCapabilities()?.elicitation === undefined) {
				throw new Error("this client does not support elicitation in a session");
			}
			const { action } = await mcpReq.elicitInput(
				{ mode: "form", message: question, requestedSchema: { type: "object", properties: {} } },
				{ timeout: ANSWER_TIME, signal: mcpReq.signal },
			);
			return action === "accept";
		},
		notify(text) {
			// A client that has disconnected needs no news.
			client.server.sendLoggingMessage({ level: "info", logger: "mcp", data: text }).catch(() => {});
		},
		onClosed(end) {
			if (isStateless) {
				throw new Error("this client has no session");
			}
			onClosed(end);
		},
	};
}
