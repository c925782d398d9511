/** How an application in TypeScript uses the package. Compiled by a test, never run. */

import { DeniableError, epsilonOf, fetchSurvey, hidden, prepare, type Answer, type Survey } from "deniable";
import { Device } from "deniable/device";
import "deniable/embed";
import { attach } from "deniable/plain";
import { toSurvey } from "deniable/surveyjs";

export async function answer(url: string, digest: string): Promise<string> {
  const survey: Survey = await fetchSurvey(url, digest);
  const answers: Record<string, Answer> = { fare: 0, lines: [0, 1], pay: "1200.50", often: null };
  const device = await Device.open();
  try {
    await device.check(survey, { maxEpsilon: 3 });
    const report: string = await device.respond(survey, answers, { arm: "north" });
    const { attempts } = await device.submit(survey, "north");
    return `${report} ${attempts} ${epsilonOf(await device.spent())} ${hidden(survey, answers).size}`;
  } catch (error) {
    if (error instanceof DeniableError && error.reason === "limit") return error.detail;
    throw error;
  }
}

document.addEventListener("deniable-error", ({ detail }) => console.log(detail.reason === "network"));
void attach(document.forms[0]);
export const made: object = toSurvey({ elements: [] }, { name: "x", privacy: { epsilon: 1 } });
// @ts-expect-error an answer is not a truth value
export const wrong: Record<string, Answer> = { fare: true };
// @ts-expect-error a report is made from a survey
prepare("survey");
