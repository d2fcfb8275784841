import { heading, line, paint, verbatim } from "../../virtual-device/src/prompt/output.js";
import type { TourOptions } from "./options.js";
import { findVoice, HTTP_PORT, type TourGateway } from "./start-gateway.js";

/**
 * Says what can be done now: see the device, connect a client, write a tool.
 *
 * @param page of the device; undefined if the tour ends here
 */
export function showNextSteps(
	{ program, clientUrl }: TourGateway,
	{ transport, httpPort }: TourOptions,
	page?: string,
): void {
	heading("Next");
	if (page !== undefined) {
		line(`See the device in your browser: ${paint("green", program.urls.console ?? "")}`);
		line(`Press its button, set its sensors, see its messages: ${paint("green", page)}`);
		line(`Connect your MCP client to ${paint("green", clientUrl)}, for example Claude Code:`);
		verbatim(`  claude mcp add --transport http devices ${clientUrl}`);
		if (httpPort === undefined && new URL(clientUrl).port !== String(HTTP_PORT)) {
			line(`  Port ${HTTP_PORT} is in use: this address is gone after "quit".`);
		}
		line("  Claude Desktop, Cursor, VS Code and others: docs/gateway/connect-a-client.md, or the page in your browser");
		const voice = findVoice() === undefined ? " Install espeak-ng first." : "";
		line(`Have it speak: the tool say, or the device's page in the console.${voice} docs/talk.md`);
	} else {
		line("Try it: npm start");
	}
	line("Write a tool: docs/add-a-tool.md. Put the firmware on a board: docs/first-board.md");
	if (transport === "websocket") {
		line("The same tour over MQTT: npm start -- --transport mqtt");
	}
}
