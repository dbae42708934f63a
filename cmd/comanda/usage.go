package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"comanda/internal/seq"
)

// The checks of a command line. Their errors say what is wrong, and show a correct line or the command that lists what is
// possible.

// noArguments refuses arguments. The argument of a group is a misspelt command.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return requireFlags(cmd)
	case cmd.HasAvailableSubCommands():
		return unknownCommand(cmd, args[0])
	}
	return fmt.Errorf("unexpected argument %q; %s --help lists the flags", args[0], cmd.CommandPath())
}

// oneArgument returns a check that accepts one argument. what describes the argument in errors, such as "the file to write".
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s needs %s: %s", nameOf(cmd), what, usage(cmd))
		case 1:
			return requireFlags(cmd)
		}
		return tooMany(cmd, args)
	}
}

// withFlags returns a check that also needs a flag of the command itself, for commands that change only what their
// flags name. Without one nothing would change, and a script would not notice.
func withFlags(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return err
		}
		given := false
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { given = given || f.Changed })
		if !given {
			return fmt.Errorf("%s needs a setting to change; %s --help lists the flags", nameOf(cmd), cmd.CommandPath())
		}
		return nil
	}
}

// optionalArgument accepts one argument or none.
func optionalArgument(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return tooMany(cmd, args)
	}
	return requireFlags(cmd)
}

func tooMany(cmd *cobra.Command, args []string) error {
	return fmt.Errorf("%s takes one argument, not %d: %s", nameOf(cmd), len(args), usage(cmd))
}

// requireFlags returns an error that names all missing flags. It runs with the check of the arguments, because cobra checks
// flags only after it, in words of its own.
func requireFlags(cmd *cobra.Command) error {
	var missing []string
	for _, f := range requiredFlags(cmd) {
		if !f.Changed {
			missing = append(missing, "--"+f.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s needs %s: %s", nameOf(cmd), strings.Join(missing, " and "), usage(cmd))
}

func requiredFlags(cmd *cobra.Command) (all []*pflag.Flag) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(f.Annotations[cobra.BashCompOneRequiredFlag], "true") {
			all = append(all, f)
		}
	})
	return all
}

// usage returns the shortest correct line of a command, such as "comanda branch copy ID --name ...".
func usage(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	if _, arguments, ok := strings.Cut(cmd.Use, " "); ok {
		words = append(words, arguments)
	}
	for _, f := range requiredFlags(cmd) {
		words = append(words, "--"+f.Name, "...")
	}
	return strings.Join(words, " ")
}

// nameOf returns the name of a command as it begins an error. main prints the name of the program before.
func nameOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// maxCommandTypos is the largest edit distance at which a command is suggested for another.
const maxCommandTypos = 2

// unknownCommand returns the error about a command that a group does not have. It suggests those with similar names.
func unknownCommand(group *cobra.Command, name string) error {
	typed := strings.TrimPrefix(group.CommandPath()+" "+name, group.Root().Name()+" ")
	group.SuggestionsMinimumDistance = maxCommandTypos
	if near := group.SuggestionsFor(name); len(near) > 0 {
		again := seq.Map(near, func(n string) string { return group.CommandPath() + " " + n })
		return fmt.Errorf("unknown command %q; did you mean %s?", typed, strings.Join(again, " or "))
	}
	return fmt.Errorf("unknown command %q; %s --help lists the commands", typed, group.CommandPath())
}

// flagError returns an error of the flag parser in terms of the command line.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return fmt.Errorf("unknown flag %s; %s --help lists the flags", name, cmd.CommandPath())
	}
	if empty, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value; %s --help lists the flags", empty.GetFlag().Name, cmd.CommandPath())
	}
	if syntax, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return fmt.Errorf("%q is not a flag; %s --help lists the flags", syntax.GetSpecifiedFlag(), cmd.CommandPath())
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	name, value := invalid.GetFlag().Name, invalid.GetValue()
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("--%s %s is out of range", name, value)
	}
	form := map[string]string{
		"bool": "true or false", "int": "a whole number", "int64": "a whole number", "float64": "a number",
		"intSlice": "whole numbers, separated by commas", "int64Slice": "whole numbers, separated by commas",
	}[invalid.GetFlag().Value.Type()]
	if form == "" {
		return fmt.Errorf("--%s: %w", name, errors.Unwrap(invalid))
	}
	return fmt.Errorf("--%s must be %s, not %q", name, form, value)
}

// completeRoot prepares the commands that cobra adds by itself like the others: an unknown command is an error, not the help
// with exit code 0.
func completeRoot(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.RunE = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 {
					err = unknownCommand(of, rest[0])
				}
				if err != nil {
					return err
				}
				of.InitDefaultHelpFlag()
				return of.Help()
			}
		case "completion":
			cmd.Args, cmd.RunE = noArguments, showHelp
			for _, shell := range cmd.Commands() {
				shell.Args = noArguments
			}
		}
	}
}

// showHelp runs a group without a command.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }
