import type { Socket } from "node:net";

/** Waits until a socket is closed, also by a reset, for which `once(socket, "close")` would reject. */
export async function untilClosed(socket: Socket): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		socket.on("error", (error: NodeJS.ErrnoException) => {
			if (error.code !== "ECONNRESET" && error.code !== "EPIPE") {
				reject(error);
			}
		});
		socket.once("close", () => resolve());
	});
}
