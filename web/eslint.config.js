import vue from 'eslint-plugin-vue'
import accessibility from 'eslint-plugin-vuejs-accessibility'
import globals from 'globals'
import typescript from 'typescript-eslint'

export default typescript.config(
  { ignores: ['node_modules', 'shared/api/schema.d.ts', 'test-results', 'screenshots'] },
  ...typescript.configs.strict,
  ...typescript.configs.stylistic,
  ...vue.configs['flat/recommended'],
  ...accessibility.configs['flat/recommended'],
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  { files: ['shared/serviceworker.js', 'guest/unregister.js'], languageOptions: { globals: globals.serviceworker } },
  {
    files: ['**/*.vue'],
    languageOptions: { parserOptions: { parser: typescript.parser } },
    rules: {
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/block-order': ['error', { order: ['script', 'template', 'style'] }],
      'vue/component-api-style': ['error', ['script-setup']],
      'vue/no-v-html': 'error',
      'vue/valid-v-slot': ['error', { allowModifiers: true }],
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-self-closing': ['warn', { html: { void: 'always' } }],
      'vuejs-accessibility/label-has-for': ['error', { required: { some: ['nesting', 'id'] } }],
    },
  },
  { rules: { 'max-lines': ['error', 300], 'no-console': 'error' } },
)
