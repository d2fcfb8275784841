import { spawnSync } from "node:child_process";

/** The gateway's setting `speechCommand` for espeak-ng, if this computer has it. */
export function findVoice(): string | undefined {
	const { status } = spawnSync("espeak-ng", ["--version"], { stdio: "ignore" });
	return status === 0 ? "espeak-ng --stdout -v {voice}" : undefined;
}
