import type { WebSocket } from "ws";

/** Pings the other side, and cuts a connection on which nothing has come since the ping before. Some peers answer no ping. */
export function watchLiveness(socket: WebSocket, interval = 30_000): void {
	let alive = true;
	for (const event of ["message", "ping", "pong"] as const) {
		socket.on(event, () => {
			alive = true;
		});
	}
	const timer = setInterval(() => {
		if (!alive) {
			socket.terminate();
			return;
		}
		alive = false;
		socket.ping();
	}, interval);
	socket.once("close", () => clearInterval(timer));
}
