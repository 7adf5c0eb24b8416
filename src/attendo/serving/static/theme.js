// Before anything is drawn, so that a dark page never flashes white. Everything else is in modules.
"use strict";
try {
  const theme = localStorage.getItem("attendo.theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* a browser that keeps nothing: as the system has it */ }
