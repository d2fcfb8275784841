import { basename } from "node:path";
import { isLoopback } from "../config/listen-address.js";
import { bootstrap } from "../devices/bootstrap/plugin.js";
import { events } from "../events/plugin.js";
import { history } from "../history/plugin.js";
import { management } from "../mcp/plugin.js";
import { definePlugin } from "../plugin.js";
import { speech } from "../speech/plugin.js";
import { clients } from "../transports/plugin.js";

/** Serves the console's page, and what it shows. */
export const consolePage = definePlugin({
	name: "console",
	setup: async (gateway): Promise<void> => {
		const [{ claudeExtension }, { readConsole }, routes, { urlsForDevices }, { Fleet }, { bindingSummary }] =
			await Promise.all([
				import("./claude-extension.js"),
				import("./console-files.js"),
				import("./console-routes.js"),
				import("./device-urls.js"),
				import("./fleet.js"),
				import("../devices/bootstrap/binding-routes.js"),
			]);
		const { consoleFolder, servers, settings, tokens, updates, urls } = gateway;
		const { websocket, websocketAddress, mqtt, mqttAddress, firmwareFolder, maxBodyBytes } = settings;
		const { guard, endpoint } = gateway.use(clients);
		const [bindings, manager, eventService] = [gateway.use(bootstrap), gateway.use(management), gateway.use(events)];
		const configured = new Set(manager?.configs.map(({ id }) => id));
		const fleet = new Fleet({
			servers,
			updates,
			events: eventService,
			audit: gateway.use(history).audit,
			lists: () => ({
				approvals: bindings.pending.map(bindingSummary),
				clients: endpoint.clients,
				servers: (manager?.listConnections() ?? []).filter(({ id }) => configured.has(id)),
			}),
		});
		const files = readConsole(consoleFolder);
		const hasVoice = gateway.use(speech).voice !== undefined;
		const bridge = bridgeCommand();
		const options = {
			servers,
			guard,
			maxBodyBytes,
			files,
			extension: claudeExtension(guard, consoleFolder),
			fleet,
			events: eventService,
			manager,
			tokens,
			describe: () => ({
				urls: urlsForDevices(urls, settings),
				isLoopback: !(websocket && !isLoopback(websocketAddress)) && !(mqtt && !isLoopback(mqttAddress)),
				hasFirmware: firmwareFolder !== undefined,
				hasVoice,
				...(bridge && { bridge }),
			}),
		};
		routes.addConsolePage(gateway.publicRoutes, options);
		routes.addConsoleRoutes(gateway.routes, options);
		gateway.on("started", () => {
			if (files !== undefined && urls.clients !== undefined) {
				urls.console = new URL("/", urls.clients).href;
			}
		});
	},
});

/** Returns the command that starts the bridge of this installation; undefined if another program started the process. */
function bridgeCommand(): { readonly command: string; readonly args: readonly string[] } | undefined {
	const [, program = ""] = process.argv;
	return /^xs-mcp-gateway(\.m?js)?$/.test(basename(program))
		? { command: process.execPath, args: [program, "stdio"] }
		: undefined;
}
