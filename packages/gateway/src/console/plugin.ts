import { definePlugin } from "../plugin.js";

/** Serves the console's page, and what it shows. */
export const consolePage = definePlugin({
	name: "console",
	setup: async (gateway): Promise<void> => {
		const [{ readConsole }, { addConsolePage, addConsoleRoutes }] = await Promise.all([
			import("./console-files.js"),
			import("./console-routes.js"),
		]);
		const files = readConsole(gateway.consoleFolder);
		if (files !== undefined) {
			addConsolePage(gateway, files);
			gateway.on("started", () => {
				gateway.urls.console = new URL("/", gateway.urls.clients).href;
			});
		}
		addConsoleRoutes(gateway);
	},
});
