import type { DeviceState } from "../device_state/device-state.js";
import type { Face, Hardware } from "../hardware/hardware.js";
import type { Runtime } from "../hardware/timer.js";
import type { Words } from "../language/en.js";
import type { SettingValue } from "../settings/settings-table.js";

export interface ConversationOptions extends Runtime {
	/** Its `chat` is where the conversation is read besides the screen. */
	readonly board: Hardware;
	readonly link: BackendLink;
	/** The kinds of events that are said. */
	readonly events: SettingValue<"events">;
	/** Texts in the device's language. A build with this feature has them. */
	readonly words: Words | undefined;
	/** Milliseconds since 1970. Default: `Date.now`. */
	readonly now?: () => number;
}

/** The application, as a conversation needs it: the backend, and the face. */
export interface BackendLink {
	/** The backend's hello; undefined outside a session. */
	readonly hello: Readonly<Record<string, unknown>> | undefined;
	/** Whether a session can be requested: the device is online and knows its backend. */
	readonly isReachable: boolean;
	readonly state: DeviceState;
	request(): void;
	/** Sends a message of the device that is not MCP. */
	send(type: string, members?: object): void;
	/** Notifies the backend and the clients of the device by MCP, in a session. */
	tell(method: string, params: object): void;
	show(change: Partial<Face>): void;
}
