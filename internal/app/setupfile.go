package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/visit"
)

// MaxSetupFile limits a set-up file and the secrets that it names, in bytes.
const MaxSetupFile = 1 << 20

// SetupProblem is a mistake in a set-up file.
type SetupProblem struct {
	Line    int    `json:"line"`  // 0: the whole file
	Field   string `json:"field"` // such as branches[0].country
	Message string `json:"message"`
}

// String returns the problem as a line of text.
func (p SetupProblem) String() string {
	var at []string
	if p.Line > 0 {
		at = append(at, "line "+strconv.Itoa(p.Line))
	}
	if p.Field != "" {
		at = append(at, p.Field)
	}
	if len(at) == 0 {
		return p.Message
	}
	return strings.Join(at, ", ") + ": " + p.Message
}

// setupFile is the content of the file that comanda setup reads.
type setupFile struct {
	Owner    *setupPerson          `yaml:"owner"`
	Settings map[string]textSource `yaml:"settings"`
	Branches []setupBranch         `yaml:"branches"`
	People   []setupPerson         `yaml:"people"`
}

type setupBranch struct {
	Name     string   `yaml:"name"`
	Country  string   `yaml:"country"`
	Currency string   `yaml:"currency"`
	Timezone string   `yaml:"timezone"`
	DayStart *int     `yaml:"dayStart"`
	Locales  []string `yaml:"locales"`
	Tables   []struct {
		Labels  string `yaml:"labels"`
		Seats   *int   `yaml:"seats"`
		Section string `yaml:"section"`
	} `yaml:"tables"`
	Menu *setupMenu `yaml:"menu"`
}

type setupMenu struct {
	Template string `yaml:"template"`
	File     string `yaml:"file"`
}

type setupPerson struct {
	Email    string      `yaml:"email"`
	Name     string      `yaml:"name"`
	Role     string      `yaml:"role"`
	Branches []string    `yaml:"branches"`
	Password *textSource `yaml:"password"`
}

// textSource is a text, or the place to read it from. A secret must not be written in the set-up file itself.
type textSource struct{ Text, File, Env string }

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *textSource) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		s.Text = n.Value
		return nil
	}
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: expected a text, or one of file and env", n.Line)}}
	}
	switch n.Content[0].Value {
	case "file":
		s.File = n.Content[1].Value
	case "env":
		s.Env = n.Content[1].Value
	default:
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: expected file or env, not %q", n.Line, n.Content[0].Value)}}
	}
	return nil
}

// read returns the text. Files are relative to the folder of the set-up file.
func (s textSource) read(dir string) (string, error) {
	switch {
	case s.File != "":
		raw, err := readNamedFile(dir, s.File, MaxSetupFile)
		return strings.TrimRight(string(raw), "\r\n"), err
	case s.Env != "":
		v, ok := os.LookupEnv(s.Env)
		if !ok {
			return "", fmt.Errorf("the environment has no %s", s.Env)
		}
		return v, nil
	}
	return s.Text, nil
}

// readNamedFile reads a file that the set-up file names, relative to dir.
func readNamedFile(dir, name string, limit int64) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return raw, err
}

// parsedSetup is a set-up file with the problems found so far.
type parsedSetup struct {
	setupFile

	dir      string
	root     yaml.Node
	problems []SetupProblem
	within   map[*yaml.Node]bool // anchors that check is in by an alias
}

// parseSetup parses a set-up file. All fields are checked before they are decoded, because the decoder's errors are about
// types of Go, and it would ignore the fraction of a number. Unknown fields are reported, because a misspelt field would be
// ignored without notice.
func parseSetup(raw []byte, dir string) *parsedSetup {
	h := &parsedSetup{dir: dir, within: map[*yaml.Node]bool{}}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	err := d.Decode(&h.root)
	if errors.Is(err, io.EOF) {
		err = errors.New("the file is empty")
	}
	if err == nil {
		h.check(h.root.Content[0], reflect.TypeFor[setupFile]())
		if err = h.root.Decode(&h.setupFile); len(h.problems) > 0 {
			err = nil // the same again
		}
	}
	if err != nil {
		h.problems = append(h.problems, yamlProblem(err.Error()))
		return h
	}
	var second yaml.Node // an empty one, as of a file that ends with ---, has only null
	if d.Decode(&second) == nil && second.Content[0].Tag != "!!null" {
		h.problems = append(h.problems, SetupProblem{
			Line: second.Line, Message: "The file has a second document. Write everything before the line with ---.",
		})
	}
	return h
}

// yamlLine matches the line of an error of the parser, which reports errors as text only.
var yamlLine = regexp.MustCompile(`^line (\d+): `)

// yamlProblem returns an error of the parser.
func yamlProblem(s string) SetupProblem {
	p := SetupProblem{Message: strings.TrimPrefix(s, "yaml: ")}
	if m := yamlLine.FindStringSubmatch(p.Message); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Message = strings.TrimPrefix(p.Message, m[0])
	}
	return p
}

// check adds a problem for each value below n that a field of type t, at the path, cannot have. A value may be empty, and
// then counts as missing. The decoder refuses an anchor that contains itself; here it is followed once.
func (h *parsedSetup) check(n *yaml.Node, t reflect.Type, path ...any) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
		if h.within[n] {
			return
		}
		h.within[n] = true
		defer delete(h.within, n)
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Tag == "!!null":
	case t == reflect.TypeFor[textSource]():
		if err := n.Decode(&textSource{}); err != nil {
			h.expected("a text, or one of file and env", n, path)
		}
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			h.check(item, t.Elem(), append(slices.Clone(path), i)...)
		}
	case t.Kind() == reflect.Slice:
		h.expected("a list", n, path)
	case t.Kind() == reflect.Int:
		if i := 0; n.Tag != "!!int" || n.Decode(&i) != nil {
			h.expected("a whole number", n, path)
		}
	case t.Kind() == reflect.String && n.Kind != yaml.ScalarNode:
		h.expected("a text", n, path)
	case t.Kind() == reflect.Map && n.Kind != yaml.MappingNode:
		h.expected("lines of name: value", n, path)
	case t.Kind() == reflect.Struct && n.Kind != yaml.MappingNode:
		h.expected("the fields "+strings.Join(fieldNames(t), ", "), n, path)
	case n.Kind == yaml.MappingNode:
		h.checkFields(n, t, path)
	}
}

// checkFields checks the entries of a mapping against the fields of a struct, or the values of a map. Those of a merged
// mapping (<<) count as its own.
func (h *parsedSetup) checkFields(n *yaml.Node, t reflect.Type, path []any) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := append(slices.Clone(path), key.Value)
		field := -1
		if t.Kind() == reflect.Struct {
			field = slices.Index(fieldNames(t), key.Value)
		}
		switch {
		case seen[key.Value]:
			h.wrongAt(key.Line, "This field is listed twice.", at)
		case key.Tag == "!!merge":
			h.check(value, t, path...)
		case t.Kind() == reflect.Map:
			h.check(value, t.Elem(), at...)
		case field >= 0:
			h.check(value, t.Field(field).Type, at...)
		default:
			h.wrongAt(key.Line, "Unknown field. The fields here are "+strings.Join(fieldNames(t), ", ")+".", at)
		}
		seen[key.Value] = true
	}
}

// fieldNames returns the names of a struct's fields in a set-up file.
func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("yaml")
	}
	return names
}

// expected adds a problem of a value of another form than its field needs.
func (h *parsedSetup) expected(form string, n *yaml.Node, path []any) {
	found := strconv.Quote(n.Value)
	switch n.Kind {
	case yaml.SequenceNode:
		found = "a list"
	case yaml.MappingNode:
		found = "fields"
	}
	h.wrongAt(n.Line, fmt.Sprintf("Expected %s, found %s.", form, found), path)
}

// wrongAt adds a problem of a field at a line.
func (h *parsedSetup) wrongAt(line int, message string, path []any) {
	h.wrong(message, path...)
	h.problems[len(h.problems)-1].Line = line
}

// wrong adds a problem of a field: names and indexes from the root.
func (h *parsedSetup) wrong(message string, path ...any) {
	p := SetupProblem{Message: message}
	n := &h.root
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	p.Line = n.Line
	for _, step := range path {
		switch step := step.(type) {
		case int:
			p.Field += fmt.Sprintf("[%d]", step)
			if n != nil && n.Kind == yaml.SequenceNode && step < len(n.Content) {
				n = n.Content[step]
				p.Line = n.Line
				continue
			}
		case string:
			p.Field = strings.TrimPrefix(p.Field+"."+step, ".")
			if value := entry(n, step); value != nil {
				n = value
				p.Line = n.Line
				continue
			}
		}
		n = nil // a missing field is reported at the line of its parent
	}
	h.problems = append(h.problems, p)
}

// entry returns the value of a key in a mapping, or nil.
func entry(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// request returns the request that creates a branch. Its idempotency key makes two commands at once create the branch
// once.
func (b setupBranch) request() catalog.NewBranchRequest {
	r := catalog.NewBranchRequest{
		Name: strings.TrimSpace(b.Name), Country: catalog.Country(b.Country), Currency: money.Currency(b.Currency),
		Timezone: b.Timezone, DayStart: b.DayStart, ClientTxnID: setupKey(b.Name),
	}
	for _, l := range b.Locales {
		r.Locales = append(r.Locales, catalog.Locale(l))
	}
	return r
}

// tables returns the labels of a branch's tables and the properties of each table.
func (h *parsedSetup) tables(i int) (labels []string, like map[string]visit.Table) {
	like = map[string]visit.Table{}
	for j, t := range h.Branches[i].Tables {
		expanded, err := visit.ParseLabels(t.Labels)
		if err != nil {
			h.wrong(detail(err), "branches", i, "tables", j, "labels")
			continue
		}
		n := usualSeats
		if t.Seats != nil {
			n = *t.Seats
		}
		of, err := visit.TableEdit{Section: &t.Section}.Apply(visit.Table{Seats: 1})
		if err != nil {
			h.wrong(detail(err), "branches", i, "tables", j, "section")
		}
		of.Seats = n
		for _, l := range expanded {
			if _, twice := like[l]; twice {
				h.wrong(fmt.Sprintf("The table %s is listed twice.", l), "branches", i, "tables", j, "labels")
				continue
			}
			like[l] = of
			labels = append(labels, l)
		}
		if _, err := (visit.TableEdit{Seats: &n}).Apply(visit.Table{Label: "x", QR: visit.NewQRToken()}); err != nil {
			h.wrong(detail(err), "branches", i, "tables", j, "seats")
		}
	}
	return labels, like
}
