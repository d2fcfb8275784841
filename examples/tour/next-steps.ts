import type { TourOptions } from "./options.js";
import { heading, line, paint, verbatim } from "./output.js";
import type { TourGateway } from "./start-gateway.js";

/**
 * Says what can be done now: see the device, connect a client, write a tool.
 *
 * @param devicePage the address of the device's own page; undefined if the tour ends here
 */
export function showNextSteps(gateway: TourGateway, { transport }: TourOptions, devicePage: string | undefined): void {
	const { program, clientUrl } = gateway;
	heading("Next");
	if (devicePage !== undefined) {
		line(`See the device in your browser: ${paint("green", devicePage)} (its screen, buttons, sensors, messages)`);
		line(`Use it in the gateway's console: ${paint("green", program.urls.console ?? "")}`);
		line(`Connect your MCP client to ${paint("green", clientUrl)}, for example Claude Code:`);
		verbatim(`  claude mcp add --transport http devices ${clientUrl}`);
		line("  Claude Desktop, Cursor, VS Code and others: docs/gateway/connect-a-client.md, or the page in your browser");
	} else {
		line("Try it: npm start");
	}
	line("Write a tool: docs/add-a-tool.md. Put the firmware on a board: docs/moddable.md");
	if (transport === "websocket") {
		line("The same tour over MQTT: npm start -- --transport mqtt");
	}
}
