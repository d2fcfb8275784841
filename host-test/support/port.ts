import getPort, { portNumbers } from "get-port";

/**
 * A free port of this machine for a server that ends and starts again. It is below those that systems give to connections
 * (Linux: from 32,768), one of which could take it meanwhile.
 */
export async function portToKeep(): Promise<number> {
	const first = 10_000 + Math.floor(Math.random() * 20_000);
	return await getPort({ port: portNumbers(first, first + 100), host: "127.0.0.1" });
}
