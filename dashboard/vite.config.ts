import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  base: '/',
  build: {
    target: 'baseline-widely-available',
    // Older targets would replace light-dark() by something larger.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: { polyfill: false },
    // An inlined asset would need a policy that allows data: addresses.
    assetsInlineLimit: 0,
  },
});
