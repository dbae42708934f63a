package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/visit"
)

// maxHouseFile limits a house file and the secrets that it names, in bytes.
const maxHouseFile = 1 << 20

// HouseProblem is a mistake in a house file.
type HouseProblem struct {
	Line    int    `json:"line"`  // 0: the whole file
	Field   string `json:"field"` // such as branches[0].country
	Message string `json:"message"`
}

// String returns the problem as a line of text.
func (p HouseProblem) String() string {
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

// houseFile is the content of the file that comanda setup reads.
type houseFile struct {
	Owner    *housePerson          `yaml:"owner"`
	Settings map[string]textSource `yaml:"settings"`
	Branches []houseBranch         `yaml:"branches"`
	People   []housePerson         `yaml:"people"`
}

type houseBranch struct {
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
	Menu *houseMenu `yaml:"menu"`
}

type houseMenu struct {
	Template string `yaml:"template"`
	File     string `yaml:"file"`
}

type housePerson struct {
	Email    string      `yaml:"email"`
	Name     string      `yaml:"name"`
	Role     string      `yaml:"role"`
	Branches []string    `yaml:"branches"`
	Password *textSource `yaml:"password"`
}

// textSource is a text, or the place to read it from. A secret must not be written in the house file itself.
type textSource struct{ Text, File, Env string }

// UnmarshalYAML implements yaml.Unmarshaler. The keys are checked here, because KnownFields does not reach them.
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

// read returns the text. Files are relative to the folder of the house file.
func (s textSource) read(dir string) (string, error) {
	switch {
	case s.File != "":
		raw, err := readHouse(dir, s.File, maxHouseFile)
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

func readHouse(dir, name string, limit int64) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("house file: %w", err)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return raw, err
}

// parsedHouse is a house file with the problems found so far.
type parsedHouse struct {
	houseFile

	dir      string
	root     yaml.Node
	problems []HouseProblem
}

// parseHouse parses a house file. Unknown fields are reported, because a misspelt field would be ignored without
// notice.
func parseHouse(raw []byte, dir string) *parsedHouse {
	h := &parsedHouse{dir: dir}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	err := d.Decode(&h.houseFile)
	if err == nil {
		err = yaml.Unmarshal(raw, &h.root)
	}
	var second yaml.Node // an empty one, as of a file that ends with ---, has only null
	if err == nil && d.Decode(&second) == nil && second.Content[0].Tag != "!!null" {
		h.problems = append(h.problems, HouseProblem{
			Line: second.Line, Message: "The file has a second document. Write everything before the line with ---.",
		})
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the file is empty")
	}
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		for _, s := range e.Errors {
			h.problems = append(h.problems, yamlProblem(s))
		}
	} else if err != nil {
		h.problems = append(h.problems, yamlProblem(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	return h
}

var (
	// The parser reports its errors as text only.
	yamlLine = regexp.MustCompile(`^line (\d+): `)
	yamlType = regexp.MustCompile(` in type \S+$`)
)

// yamlProblem returns an error of the parser without the names of Go types.
func yamlProblem(s string) HouseProblem {
	p := HouseProblem{Message: yamlType.ReplaceAllString(s, " here")}
	if m := yamlLine.FindStringSubmatch(s); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Message = strings.TrimPrefix(p.Message, m[0])
	}
	return p
}

// wrong adds a problem of a field: names and indexes from the root.
func (h *parsedHouse) wrong(message string, path ...any) {
	p := HouseProblem{Message: message}
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
func (b houseBranch) request() catalog.NewBranchRequest {
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
func (h *parsedHouse) tables(i int) (labels []string, like map[string]visit.Table) {
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
