// Talking to the server: every message is JSON, every answer too.

export class Refused extends Error {
  constructor(status, why) { super(why); this.status = status; }
}

async function talk(path, message) {
  const options = message === undefined
    ? {}
    : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message) };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused(0, "The server does not answer; try again in a moment.");
  }
  if (answer.headers.has("Retry-After")) {
    await new Promise((done) => setTimeout(done, 1000 * answer.headers.get("Retry-After")));
    return talk(path, message); // it is still preparing
  }
  const found = await answer.json().catch(() => ({ error: `The server answered ${answer.status}.` }));
  if (!answer.ok) throw new Refused(answer.status, found.error);
  return found;
}

const at = (table) => `/api/tables/${table}`;

export const offers = () => talk("/api/offers");
export const prepared = (query) => talk(`/api/prepared?${new URLSearchParams(query)}`);
export const rules = () => fetch("/api/rules").then((answer) => answer.text());
export const open = (offer) => talk("/api/tables", offer);
export const sit = (table, invitation, name) => talk(`${at(table)}/sit`, { invitation, name });
export const look = (table, since) => talk(at(table) + (since === undefined ? "" : `?since=${since}`));
export const act = (table, message) => talk(`${at(table)}/act`, message);
export const undo = (table, revision) => talk(`${at(table)}/undo`, { revision });
export const resign = (table, revision) => talk(`${at(table)}/resign`, { revision });
export const again = (table) => talk(`${at(table)}/again`, {});
export const advice = (table) => talk(`${at(table)}/advice`);
export const review = (table) => talk(`${at(table)}/review`);
export const replay = (table) => `${at(table)}/replay`;

// Calls `heard` whenever the table changes or a person comes or goes; returns a function to end it.
export function listen(table, heard) {
  const stream = new EventSource(`${at(table)}/events`);
  stream.onmessage = (event) => heard(JSON.parse(event.data));
  return () => stream.close();
}
