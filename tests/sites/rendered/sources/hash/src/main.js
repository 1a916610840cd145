import { createApp } from "vue";
import { createRouter, createWebHashHistory } from "vue-router";
import App from "./App.vue";
import Rooms from "./Rooms.vue";
import Visit from "./Visit.vue";

const routes = [
  { path: "/", component: Rooms },
  { path: "/visit", component: Visit },
];
createApp(App)
  .use(createRouter({ history: createWebHashHistory(), routes }))
  .mount("#app");
