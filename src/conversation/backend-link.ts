import type { DeviceState } from "../device_state/device-state.js";

/** The backend, as a conversation needs it. */
export interface BackendLink {
	/** The backend's hello; undefined outside a session. */
	readonly hello: Readonly<Record<string, unknown>> | undefined;
	/** Whether a session can be requested: the device is online and knows its backend. */
	readonly isReachable: boolean;
	/** The device's state. */
	readonly state: DeviceState;
	/** Requests a session. */
	request(): void;
	/** Sends a message of the device that is not MCP. */
	send(type: string, members?: object): void;
	/** Notifies the backend and the clients of the device by MCP, in a session. */
	tell(method: string, params: object): void;
}
