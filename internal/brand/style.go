package brand

// Style returns the style sheet that puts the brand's colours in place of those of web/shared/styles/tokens.css; empty
// without a colour. The selectors are those of that file. The page's style stands behind it and is therefore stronger.
func (b Brand) Style() string {
	p, ok := b.Palette()
	if !ok {
		return ""
	}
	dark := p.Dark.css()
	return ":root{" + p.Light.css() + "}" +
		"@media (prefers-color-scheme:dark){:root:not([data-theme='light']){" + dark + "}}" +
		":root[data-theme='dark']{" + dark + "}"
}

func (s Shades) css() string {
	return "--accent:" + s.Accent + ";--accent-deep:" + s.Deep + ";--accent-ink:" + s.Ink + ";--on-accent:" + s.On
}
