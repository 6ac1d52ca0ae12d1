"""Many submissions against one rubric: resumable, in any order, on one machine or many."""
