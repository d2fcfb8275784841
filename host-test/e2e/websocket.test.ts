import { hasOpus } from "../../toolchain/opus.js";
import { cases } from "../support/scope.js";
import { COMMON_TOOLS } from "../support/tool-counts.js";
import { ENGINES, RawBackend, startDevice } from "./fixtures.js";
import { describeWire } from "./wire-suite.js";

for (const engine of cases(ENGINES)) {
	describeWire(`a virtual device on ${engine.kind}`, async (t) => {
		const backend = await RawBackend.listen(t);
		const { log } = await startDevice(t, engine, { config: { backend: backend.url } });
		return {
			backend,
			name: "virtual",
			tools: COMMON_TOOLS,
			audio: hasOpus(),
			maxMessage: 65_536,
			log: () => log.join("\n"),
		};
	});
}
