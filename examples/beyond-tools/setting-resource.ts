import { defineResource } from "../../src/features/resources/define-resource.js";

export default defineResource({
	uri: "setting://{domain}/{name}",
	name: "setting",
	description: "A setting that outlives a restart.",
	mimeType: "text/plain",
	needs: ["settings"],
	complete: { domain: ["audio", "display"] },
	read: ({ domain, name }, { settings }) => String(settings.get(domain, name) ?? "not set"),
});
