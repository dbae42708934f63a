package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A wrong line is refused in one line that shows a correct one, or the command that lists what is possible. With the help
// and exit code 0 a script would not notice it.
func TestUsage(t *testing.T) {
	for line, want := range map[string]string{
		"nope":                                `unknown command "nope"; comanda --help lists the commands`,
		"branc":                               `unknown command "branc"; did you mean comanda branch?`,
		"brnch":                               `unknown command "brnch"; did you mean comanda bench or comanda branch?`,
		"branch lst":                          `unknown command "branch lst"; did you mean comanda branch list or comanda branch set?`,
		"branch zzz":                          `unknown command "branch zzz"; comanda branch --help lists the commands`,
		"tables x":                            `unknown command "tables x"; comanda tables --help lists the commands`,
		"help nope":                           `unknown command "nope"; comanda --help lists the commands`,
		"help branch zzz":                     `unknown command "branch zzz"; comanda branch --help lists the commands`,
		"completion wxyz":                     `unknown command "completion wxyz"; comanda completion --help lists the commands`,
		"completion bash x":                   `unexpected argument "x"; comanda completion bash --help lists the flags`,
		"serve x":                             `unexpected argument "x"; comanda serve --help lists the flags`,
		"backup":                              "backup needs the file to write: comanda backup FILE",
		"backup a b":                          "backup takes one argument, not 2: comanda backup FILE",
		"orders import":                       "orders import needs the file to read: comanda orders import FILE",
		"branch set":                          "branch set needs the id of a branch: comanda branch set ID",
		"branch set 1":                        "branch set needs a setting to change; comanda branch set --help lists the flags",
		"branch set 1 --json":                 "branch set needs a setting to change; comanda branch set --help lists the flags",
		"branch copy":                         "branch copy needs the id of a branch: comanda branch copy ID --name ...",
		"branch copy 1":                       "branch copy needs --name: comanda branch copy ID --name ...",
		"menu import a b":                     "menu import takes one argument, not 2: comanda menu import [FILE] --branch ...",
		"menu import a":                       "menu import needs --branch: comanda menu import [FILE] --branch ...",
		"user create":                         "user create needs --email and --role: comanda user create --email ... --role ...",
		"user create --email a":               "user create needs --role: comanda user create --email ... --role ...",
		"serve --nope":                        "unknown flag --nope; comanda serve --help lists the flags",
		"serve -n":                            "unknown flag -n; comanda serve --help lists the flags",
		"serve ---n":                          `"---n" is not a flag; comanda serve --help lists the flags`,
		"tables --branch":                     "--branch needs a value; comanda tables --help lists the flags",
		"tables --branch x":                   `--branch must be a whole number, not "x"`,
		"tables --branch 9999999999999999999": "--branch 9999999999999999999 is out of range",
		"tables --json=x":                     `--json must be true or false, not "x"`,
		"bench --seconds x":                   `--seconds must be a number, not "x"`,
		"bench --conns 1,x":                   `--conns must be whole numbers, separated by commas, not "1,x"`,
		`branch create --locales "`:           `--locales: parse error on line 1, column 2: extraneous or missing " in quoted-field`,
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(line))
		root.SetOut(io.Discard)
		if err := root.Execute(); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", line, err, want)
		}
	}
	for _, line := range []string{"", "branch", "help", "help branch set", "completion"} {
		var out strings.Builder
		root := newRoot()
		root.SetArgs(strings.Fields(line))
		root.SetOut(&out)
		if err := root.Execute(); err != nil || out.Len() == 0 {
			t.Errorf("%q: error %v, output of %d bytes, want the help or a script", line, err, out.Len())
		}
	}
}

// Every command refuses one argument more than its usage shows, and each missing one, in the words of this program.
func TestUsage_arguments_of_every_command(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			check(sub)
		}
		if cmd.Name() == "help" { // its arguments are commands
			return
		}
		shown := strings.Fields(cmd.Use)[1:]
		if slices.ContainsFunc(shown, func(a string) bool { return !strings.HasPrefix(a, "[") }) {
			if err := cmd.ValidateArgs(nil); err == nil || !strings.HasPrefix(err.Error(), nameOf(cmd)+" needs ") {
				t.Errorf("%s without an argument: error %v", cmd.CommandPath(), err)
			}
		}
		args := slices.Repeat([]string{"x"}, len(shown)+1)
		if err := cmd.ValidateArgs(args); err == nil || strings.Contains(err.Error(), "arg(s)") || strings.Contains(err.Error(), " for ") {
			t.Errorf("%s with %d arguments: error %v", cmd.CommandPath(), len(args), err)
		}
	}
	check(newRoot())
}
