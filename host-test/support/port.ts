import getPort, { portNumbers } from "get-port";

/**
 * A free port of this machine for a server that starts later. It is below the ephemeral ports (Linux: from 32,768), so
 * that no connection takes it meanwhile.
 */
export async function freePort(): Promise<number> {
	const first = 10_000 + Math.floor(Math.random() * 20_000);
	return await getPort({ port: portNumbers(first, first + 100), host: "127.0.0.1" });
}
