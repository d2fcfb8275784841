import { type DeviceHub, MqttDevices, WebSocketDevices } from "../gateway/src/index.js";

/** A place where devices are accepted. */
export interface Backend {
	/** The URL a device connects to. */
	readonly url: string;
	close(): Promise<void>;
}

const WEBSOCKET_PORT = 8765;
const MQTT_PORT = 1883;

/** WebSocket, on the port asked for, or, when none was and the default is taken, on a free one. */
export async function listenForWebSockets(hub: DeviceHub, port?: number): Promise<Backend> {
	return await onPort(port, WEBSOCKET_PORT, async (each) => {
		const devices = new WebSocketDevices(hub, { port: each });
		const actual = await devices.listen();
		return { url: `ws://127.0.0.1:${actual}/`, close: () => devices.close() };
	});
}

/** MQTT: a broker of our own, or another's by its URL. */
export async function listenForMqtt(hub: DeviceHub, broker?: string, port?: number): Promise<Backend> {
	if (broker !== undefined) {
		const devices = await MqttDevices.connect(hub, { url: broker });
		return { url: broker, close: () => devices.close() };
	}
	return await onPort(port, MQTT_PORT, async (each) => {
		const { devices, port: actual } = await MqttDevices.listen(hub, { port: each });
		return { url: `mqtt://127.0.0.1:${actual}`, close: () => devices.close() };
	});
}

async function onPort(
	asked: number | undefined,
	usual: number,
	listen: (port: number) => Promise<Backend>,
): Promise<Backend> {
	try {
		return await listen(asked ?? usual);
	} catch (error) {
		if (asked === undefined && (error as NodeJS.ErrnoException).code === "EADDRINUSE") {
			return await listen(0);
		}
		throw error;
	}
}
