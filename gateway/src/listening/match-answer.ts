/** The expected answer that a text contains; undefined if it contains none, or several. */
export function matchAnswer(text: string, answers: readonly string[]): string | undefined {
	const said = ` ${plain(text)} `;
	const found = answers.filter((answer) => has(said, plain(answer)));
	// "not now" has "now" in it.
	const longest = found.filter(
		(answer) => !found.some((other) => other !== answer && has(` ${plain(other)} `, plain(answer))),
	);
	return longest.length === 1 ? longest[0] : undefined;
}

/** Chinese and Japanese have no spaces between words. */
function has(said: string, answer: string): boolean {
	const isWord = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{N} ]+$/u.test(answer);
	return answer !== "" && said.includes(isWord ? ` ${answer} ` : answer);
}

/** Lower case, without punctuation. */
function plain(text: string): string {
	return text
		.normalize("NFKC")
		.toLowerCase()
		.replace(/[^\p{L}\p{N}]+/gu, " ")
		.trim();
}
