import { spawnSync } from "node:child_process";
import { openOpusDecoder } from "xs-mcp/build/opus";

export function whyMissing(program: string, packageName: string): string | undefined {
	const { error } = spawnSync(program, ["--version"], { stdio: "ignore" });
	return error === undefined ? undefined : `${program} is missing: apt-get install ${packageName}`;
}

/** Why there is no Opus: the package is optional. Undefined if it is installed. */
export async function whyNoOpus(): Promise<string | undefined> {
	return await openOpusDecoder(16_000).then(
		(decoder) => {
			decoder.free();
			return undefined;
		},
		(error: Error) => error.message,
	);
}
