import { z } from "zod";
import { Tool } from "@agent/tools";

export const toKelvin = Tool.define("to_kelvin", {
  description: "Converts degrees Celsius to kelvin.",
  parameters: z.object({ celsius: z.number().describe("The temperature.") }),
  execute: async ({ celsius }) => {
    if (celsius < -273.15) throw new Error("there is nothing colder than 0 kelvin");
    return { title: `${celsius} °C`, metadata: {}, output: `${celsius + 273.15} K` };
  },
});

export const TemperatureToolset = [toKelvin];
