import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Program, type ProgramOptions } from "../../host-test/support/program.js";

const PYTHON = process.env.PYTHON ?? "python3";

interface PythonOptions extends ProgramOptions {
	/** Packages that may be missing, since what they are for is not used here. */
	readonly standIns?: readonly string[];
	/** Whether it gets a codec, by the system's libopus, and a sound card of files: sound/. */
	readonly hasSound?: boolean;
}

export function whyNoPackages(...names: readonly string[]): string | undefined {
	const { status } = spawnSync(PYTHON, ["-c", `import ${names.join()}`], { stdio: "ignore" });
	return status === 0 ? undefined : `${PYTHON} lacks ${names.join(" or ")}`;
}

export async function startPython(
	test: TestContext,
	args: readonly string[],
	isReady: (output: string) => boolean,
	{ standIns = [], hasSound = false, env, ...options }: PythonOptions = {},
): Promise<Program> {
	const program = await Program.start(["-u", ...args], isReady, {
		...options,
		command: PYTHON,
		env: { ...env, ...pythonEnvironment(standIns, hasSound) },
	});
	test.after(() => program.stop());
	return program;
}

function pythonEnvironment(standIns: readonly string[], hasSound: boolean): NodeJS.ProcessEnv {
	const own = [".", ...(hasSound ? ["sound"] : [])];
	const folders = own.map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
	// Port 9 is "discard": whatever a peer wants from the internet fails at once.
	const proxy = "http://127.0.0.1:9";
	return {
		PYTHONPATH: [...folders, process.env.PYTHONPATH].filter(Boolean).join(delimiter),
		PYTHONDONTWRITEBYTECODE: "1",
		XS_MCP_STAND_INS: standIns.join(","),
		http_proxy: proxy,
		https_proxy: proxy,
		no_proxy: "127.0.0.1,localhost",
	};
}
