import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { visible } from "../parts/visible.js";
import { GroupLink } from "../store/device-link.js";
import { t } from "../texts/index.js";
import { ToolCard } from "./tool-card.js";

/** Tools that several devices share: one call reaches all devices, those of a tag, or chosen ones. */
export function GroupCalls() {
	const link = useMemo(() => new GroupLink(), []);
	const problem = useSignal("");
	const open = async (): Promise<void> => {
		try {
			await link.open();
			problem.value = "";
		} catch (error) {
			problem.value = (error as Error).message;
		}
	};
	const { value: tools } = link.tools;
	return (
		<details class="card" onToggle={({ currentTarget }) => currentTarget.open && void open()}>
			<summary>{t("groupCalls")}</summary>
			{problem.value !== "" && <p class="bad-text">{visible(problem.value)}</p>}
			{tools?.length === 0 && <p class="muted">{t("noGroups")}</p>}
			{tools?.map((tool) => (
				<ToolCard key={tool.name} link={link} tool={tool} />
			))}
		</details>
	);
}
