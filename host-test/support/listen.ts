import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import type { TestContext } from "node:test";
import { WebSocketServer } from "ws";

export async function listen(
	test: Pick<TestContext, "after">,
	server: Server & { closeAllConnections?(): void; keepAliveTimeout?: number },
	port = 0,
): Promise<number> {
	// On a busy computer, a client could send a request while the server closes an idle connection.
	server.keepAliveTimeout = 0;
	await once(server.listen(port, "127.0.0.1"), "listening");
	test.after(() => {
		server.close();
		server.closeAllConnections?.();
	});
	return (server.address() as AddressInfo).port;
}

export async function listenForSockets(
	test: Pick<TestContext, "after">,
	port = 0,
): Promise<{ server: WebSocketServer; url: string }> {
	const server = new WebSocketServer({ port, host: "127.0.0.1" });
	await once(server, "listening");
	test.after(() => {
		for (const socket of server.clients) {
			socket.terminate();
		}
		server.close();
	});
	return { server, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}
