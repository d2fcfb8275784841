import type { Server } from "@modelcontextprotocol/server";
import { inRevision, passOn, requestOptions } from "./bridge-requests.js";
import { type GatewayEnd, NO_GATEWAY } from "./bridge-server.js";

/** Serves prompts and completion at the client's end of a bridge. */
export function servePrompts(server: Server, gateway: GatewayEnd): void {
	server.setRequestHandler("prompts/list", async ({ params = {} }, context) => {
		const listed = await gateway.client?.request({ method: "prompts/list", params }, requestOptions(context));
		return inRevision(server, listed ?? { prompts: [] });
	});
	server.setRequestHandler("prompts/get", async ({ params }, context) => {
		if (gateway.client === undefined) {
			throw new Error(NO_GATEWAY);
		}
		const { client } = gateway;
		return await passOn(server, context, (asking, options) =>
			client.request({ method: "prompts/get", params: { ...params, ...asking } }, options),
		);
	});
	server.setRequestHandler("completion/complete", async ({ params }, context) => {
		const asked = { method: "completion/complete", params } as const;
		const completed = await gateway.client?.request(asked, requestOptions(context));
		return inRevision(server, completed ?? { completion: { values: [] } });
	});
}
