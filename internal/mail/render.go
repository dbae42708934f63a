package mail

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	text "text/template"
	"unicode"
	"unicode/utf8"
)

// Locales returns the locales of every template, the default first.
func Locales() []string { return []string{"vi", "zh-TW", "en"} }

// Templates returns the names of all templates.
func Templates() []string { return []string{"verify", "reset", "welcome", "test"} }

// A template is a file templates/<name>.<locale>.txt: the subject, an empty line, and paragraphs separated by empty
// lines. The HTML part is rendered from the same paragraphs, so that both parts have the same content.
//
//go:embed templates
var files embed.FS

var (
	templates = loadTemplates()
	page      = template.Must(template.ParseFS(files, "templates/page.html"))
)

// loadTemplates parses every template in every locale at program start, so that a missing one fails the first start and
// not a message.
func loadTemplates() map[string]*text.Template {
	all := map[string]*text.Template{}
	for _, name := range Templates() {
		for _, locale := range Locales() {
			file := name + "." + locale
			source, err := fs.ReadFile(files, "templates/"+file+".txt")
			if err != nil {
				panic("mail: " + err.Error())
			}
			all[file] = text.Must(text.New(file).Option("missingkey=zero").Parse(string(source)))
		}
	}
	return all
}

const maxField = 200 // characters of a field

// Render fills a template. An unknown locale falls back to the default. Fields are cleaned before the template is
// filled: a line break in one would end the subject. Unknown fields are ignored, missing ones are empty.
func Render(name, locale string, fields map[string]string) (Message, error) {
	t, ok := templates[name+"."+locale]
	if !ok {
		locale = Locales()[0]
		if t, ok = templates[name+"."+locale]; !ok {
			return Message{}, fmt.Errorf("mail: there is no template %q", name)
		}
	}
	clean := make(map[string]string, len(fields))
	for k, v := range fields {
		clean[k] = oneLine(v)
	}
	var b strings.Builder
	if err := t.Execute(&b, clean); err != nil {
		return Message{}, fmt.Errorf("mail: template %s: %w", name, err)
	}
	subject, body, _ := strings.Cut(strings.TrimSpace(b.String()), "\n")
	body = strings.TrimSpace(body)
	m := Message{Subject: strings.TrimSpace(subject), Text: body + "\n"}
	var h strings.Builder
	err := page.Execute(&h, map[string]any{
		"Locale": locale, "Subject": m.Subject, "Paragraphs": strings.Split(body, "\n\n"), "Code": clean["code"],
	})
	m.HTML = h.String()
	return m, err
}

// oneLine keeps user input on one line (E4), and short.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxField {
			break
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
