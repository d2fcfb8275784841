import { cluster } from "./cluster/plugin.js";
import { consolePage, operator } from "./console/plugin.js";
import { bootstrap } from "./devices/bootstrap/plugin.js";
import { firmware } from "./devices/firmware/plugin.js";
import { pictures } from "./devices/pictures/plugin.js";
import { devices } from "./devices/plugin.js";
import { events } from "./events/plugin.js";
import { webhooks } from "./events/webhooks-plugin.js";
import { history } from "./history/plugin.js";
import { homeAssistant } from "./home-assistant/plugin.js";
import { listening } from "./listening/plugin.js";
import { management } from "./mcp/plugin.js";
import { speech } from "./speech/plugin.js";
import { clients, endpoints } from "./transports/plugin.js";

/** The features of a gateway, in the order in which they are set up. Each uses only those before it. They close in reverse order. */
export const PLUGINS = [
	clients,
	events,
	history,
	speech,
	listening,
	management,
	cluster,
	webhooks,
	homeAssistant,
	devices,
	firmware,
	bootstrap,
	pictures,
	operator,
	consolePage,
	endpoints,
] as const;
