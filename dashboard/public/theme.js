// Runs before the first paint. A file of its own: the content policy allows no inline scripts.
const stored = localStorage.getItem('theme');
if (stored === 'light' || stored === 'dark') document.documentElement.dataset.theme = stored;
