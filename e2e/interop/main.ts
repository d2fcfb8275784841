// npm run interop: the firmware and the gateway with backends and devices that others wrote.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { makeProgram, runProgram } from "xs-mcp/build/program";
import { runTests } from "../../host-test/runner/run.js";
import { VARIABLES } from "./peers.js";

const FOLDER = "e2e/interop";

const EPILOGUE = `
Each peer runs if an environment variable names the folder of its checkout:
${VARIABLES.map(({ variable, repository }) => `  ${variable.padEnd(21)} ${repository}`).join("\n")}
PYTHON is the Python that runs the peers (default: python3), PYTHONPATH where its packages
are: aiohttp, beautifulsoup4, cryptography, fastapi, httpx, jinja2, loguru, numpy,
paho-mqtt >= 2.1, platformdirs, psutil, pycryptodome, PyJWT, python-dotenv, PyYAML, requests,
ruamel.yaml, uvicorn, websockets >= 14. Packages for speech and sound that it lacks are stood
in for; with espeak-ng and the system's libopus, devices and servers speak and hear by files.
The first also needs ffmpeg, Chromium, and by voice onnxruntime and pydub.
xiaozhi-mqtt-gateway needs npm install in its folder, and listens on all addresses of the machine.`;

const program = makeProgram(
	"npm run interop --",
	"Runs the firmware and the gateway with other people's backends and devices, and prints a table.",
)
	.addHelpText("after", EPILOGUE)
	.action(async () => {
		const files = readdirSync(fileURLToPath(new URL(".", import.meta.url)))
			.filter((name) => name.endsWith(".interop.ts"))
			.map((name) => `${FOLDER}/${name}`);
		process.exitCode = await runTests(files, {
			concurrency: 1,
			reporter: `./${FOLDER}/table-reporter.mjs`,
		});
	});

await runProgram(program);
