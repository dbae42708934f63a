package mail

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	text "text/template"
	"unicode/utf8"

	"comanda/internal/seq"
	input "comanda/internal/text"
)

// Locales returns the locales of every template, the default first.
func Locales() []string { return []string{"vi", "zh-TW", "en"} }

// Templates returns the names of all templates.
func Templates() []string {
	account := []string{
		"verify", "reset", "welcome", "email_change", "email_changed", "new_device", "password_reset", "google_connected",
		"google_disconnected",
	}
	return slices.Concat(account, []string{"test"}, OrderTemplates(), MailingTemplates())
}

// MailingTemplates returns the names of the templates of mailings: e-mails that members have not caused themselves.
func MailingTemplates() []string { return []string{"news", "reminder"} }

// OrderTemplates returns the names of the templates of e-mails about orders.
func OrderTemplates() []string {
	return []string{
		"order_received", "order_paid", "order_canceled", "order_expired", "order_refunded", "order_ready",
	}
}

// HasCode reports whether e-mails of a template contain a one-time code. Such an e-mail cannot be sent again after it
// has failed, because its code is deleted (E3).
func HasCode(template string) bool {
	return slices.Contains([]string{"verify", "reset", "email_change"}, template)
}

// A template is a file templates/<name>.<locale>.txt: the subject, an empty line, and paragraphs separated by empty
// lines. The HTML part is rendered from the same paragraphs, so that both parts have the same content. The file
// parts.<locale>.txt has the parts that templates of a locale share.
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
	for _, locale := range Locales() {
		parts := text.Must(text.New("parts").Option("missingkey=zero").Funcs(rowsOf(nil)).Parse(source("parts." + locale)))
		for _, name := range Templates() {
			file := name + "." + locale
			all[file] = text.Must(text.Must(parts.Clone()).New(file).Parse(source(file)))
		}
	}
	return all
}

// source returns the text of a template's file.
func source(file string) string {
	b, err := fs.ReadFile(files, "templates/"+file+".txt")
	if err != nil {
		panic("mail: " + err.Error())
	}
	return string(b)
}

// maxField is the maximum length of a field in bytes. The longest field is a line of a mailing, of 1,000 characters.
const maxField = 4000

// Render fills a template with fields, see TemplateData.Render.
func Render(name, locale string, fields map[string]string) (Message, error) {
	return TemplateData{Fields: fields}.Render(name, locale)
}

// Render fills a template. An unknown locale falls back to the default. Fields are cleaned before the template is
// filled: a line break in one would end the subject. Unknown fields are ignored, missing ones are empty.
func (c TemplateData) Render(name, locale string) (Message, error) {
	t, ok := templates[name+"."+locale]
	if !ok {
		locale = Locales()[0]
		if t, ok = templates[name+"."+locale]; !ok {
			return Message{}, fmt.Errorf("mail: there is no template %q", name)
		}
	}
	t, err := t.Clone() // because the function of the lists is part of a template
	if err != nil {
		return Message{}, fmt.Errorf("mail: template %s: %w", name, err)
	}
	clean := cleaned(c.Fields)
	var b strings.Builder
	if err := t.Funcs(rowsOf(c.Lists)).Execute(&b, clean); err != nil {
		return Message{}, fmt.Errorf("mail: template %s: %w", name, err)
	}
	subject, body, _ := strings.Cut(strings.TrimSpace(b.String()), "\n")
	body = strings.TrimSpace(manyBreaks.ReplaceAllString(body, "\n\n"))
	m := Message{Subject: strings.TrimSpace(subject), Text: body + "\n"}
	var h strings.Builder
	err = page.Execute(&h, map[string]any{
		"Locale": locale, "Subject": m.Subject, "Code": clean["code"], "Accent": c.Accent,
		"Paragraphs": seq.Map(strings.Split(body, "\n\n"), c.lines),
	})
	m.HTML = h.String()
	return m, err
}

// manyBreaks matches what parts leave that were not needed: more than one empty line.
var manyBreaks = regexp.MustCompile(`\n{3,}`)

// line is a line of a paragraph in the HTML part.
type line struct {
	Text string
	Link bool
}

// lines returns the lines of a paragraph. Only whole lines that Comanda has made are links: users can fill a line and
// never start one (E4).
func (c TemplateData) lines(paragraph string) []line {
	return seq.Map(strings.Split(paragraph, "\n"), func(s string) line { return line{s, slices.Contains(c.Links, s)} })
}

// rowsOf returns the function by which templates read lists. Lists are not fields, because a field that is missing is
// empty only in a map of texts.
func rowsOf(lists map[string][]map[string]string) text.FuncMap {
	return text.FuncMap{"rows": func(list string) []map[string]string { return seq.Map(lists[list], cleaned) }}
}

// cleaned returns fields as a template reads them.
func cleaned(fields map[string]string) map[string]string {
	clean := make(map[string]string, len(fields))
	for k, v := range fields {
		clean[k] = oneLine(v)
	}
	return clean
}

// oneLine keeps user input on one line (E4), and truncates it.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxField {
			break
		}
		// Printable keeps the joiners of emoji and of Indic and Persian words.
		if r == '\n' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError || input.Printable(string(r)) == "" {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
