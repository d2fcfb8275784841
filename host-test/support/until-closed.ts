import type { Socket } from "node:net";

/** Waits until a socket is closed, also by a reset, for which `once(socket, "close")` would reject. */
export async function untilClosed(socket: Socket): Promise<void> {
	socket.on("error", () => {});
	await new Promise((resolve) => socket.once("close", resolve));
}
