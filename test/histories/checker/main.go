package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// checker HISTORY PAGES: judges the history in that file, and writes a page for each partition that is refuted. Prints
// the verdicts as JSON; an error if it cannot be judged.
func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("checker HISTORY PAGES")
	}
	file, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer file.Close()
	records, err := readHistory(file)
	if err != nil {
		return err
	}
	verdicts, err := judge(records, args[1])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(verdicts)
}
